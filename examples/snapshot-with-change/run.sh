# In production, once in a while: what planning needs of the cluster, and nothing else.
nodeform snapshot cluster.yaml --out production.json

# In the pull request: its manifests, on top of production.
nodeform plan --snapshot production.json --with web.yaml --prune reports.yaml
