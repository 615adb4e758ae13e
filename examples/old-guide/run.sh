# An old guide is converted, then planned. It runs in a copy of this folder.
nodeform validate guide.yaml || true
nodeform validate --fix guide.yaml
nodeform plan guide.yaml jobs.yaml
