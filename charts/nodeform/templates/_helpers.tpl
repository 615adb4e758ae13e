{{- define "nodeform.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default .Release.Name .Values.serviceAccount.name }}{{ else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}
{{- define "nodeform.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "nodeform.labels" -}}
{{ include "nodeform.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
{{- /* Plans in a repository are fetched and pushed by `git`, which the image of this tag has. */ -}}
{{- define "nodeform.image" -}}
{{- $git := or .Values.review.enabled .Values.review.tokenSecret.name .Values.proposer.enabled -}}
{{ printf "%s:%s" .Values.image.repository (default (ternary (printf "%s-git" .Chart.AppVersion) .Chart.AppVersion (not (empty $git))) .Values.image.tag) }}
{{- end }}
{{- /* The managed cluster, and what the user adds: of the root and a list of variables. */ -}}
{{- define "nodeform.env" -}}
{{- $added := index . 1 -}}
{{- with index . 0 -}}
- {name: NODEFORM_LOG, value: {{ printf "nodeform=%s" .Values.logLevel | quote }}}
{{- with .Values.settings.clusterName }}
- {name: CLUSTER_NAME, value: {{ . | quote }}}
{{- end }}
{{- with .Values.settings.resourceGroup }}
- {name: ARM_RESOURCE_GROUP, value: {{ . | quote }}}
{{- end }}
{{- with .Values.settings.subscriptionID }}
- {name: AZURE_SUBSCRIPTION_ID, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- with $added }}{{ toYaml . | nindent 0 }}{{ end }}
{{- end }}
{{- define "nodeform.securityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
{{- end }}
{{- /* Nothing of nodeform may run on nodes that it may remove. */ -}}
{{- define "nodeform.affinity" -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      - matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]
{{- end }}
{{- /* The clone of the repository that plans are reviewed in, whatever Git puts beside it, and the token, or the key of a GitHub App:
of `tokenSecret`, `githubAppId` and `user`. */ -}}
{{- define "nodeform.gitEnv" -}}
- {name: XDG_CACHE_HOME, value: /cache}
- {name: TMPDIR, value: /cache}
{{- if and .tokenSecret.name .githubAppId }}
- {name: NODEFORM_GITHUB_APP_ID, value: {{ .githubAppId | quote }}}
- {name: NODEFORM_GITHUB_APP_KEY_FILE, value: /var/run/secrets/nodeform.dev/git/token}
{{- else if .tokenSecret.name }}
- {name: NODEFORM_GIT_TOKEN_FILE, value: /var/run/secrets/nodeform.dev/git/token}
{{- else if .githubAppId }}
{{- fail "`githubAppId` needs `tokenSecret`: the Secret with the private key of the App" }}
{{- end }}
{{- with .user }}
- {name: NODEFORM_GIT_USER, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- define "nodeform.gitMounts" -}}
- {name: cache, mountPath: /cache}
{{- with .tokenSecret.name }}
- {name: git, mountPath: /var/run/secrets/nodeform.dev/git, readOnly: true}
{{- end }}
{{- end }}
{{- define "nodeform.gitVolumes" -}}
- {name: cache, emptyDir: {sizeLimit: 1Gi}}
{{- with .tokenSecret }}{{ if .name }}
- name: git
  secret: {secretName: {{ .name | quote }}, defaultMode: 0440, items: [{key: {{ .key | quote }}, path: token}]}
{{- end }}{{ end }}
{{- end }}
{{- /* The rules of who only looks: what plans are made of, and what became of plans before. */ -}}
{{- define "nodeform.reads" -}}
# What plans are made of.
- apiGroups: [""]
  resources: [nodes, namespaces, limitranges, persistentvolumeclaims, persistentvolumes, pods, podtemplates]
  verbs: [get, list, watch]
- apiGroups: [apps]
  resources: [daemonsets, deployments, statefulsets]
  verbs: [get, list, watch]
- apiGroups: [batch]
  resources: [jobs, cronjobs]
  verbs: [get, list, watch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list, watch]
- apiGroups: [autoscaling.x-k8s.io]
  resources: [capacitybuffers]
  verbs: [get, list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch]
- apiGroups: [scheduling.k8s.io]
  resources: [priorityclasses, podgroups, workloads]
  verbs: [get, list, watch]
- apiGroups: [scheduling.volcano.sh]
  resources: [podgroups]
  verbs: [get, list, watch]
- apiGroups: [node.k8s.io]
  resources: [runtimeclasses]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses, csinodes, volumeattachments]
  verbs: [get, list, watch]
- apiGroups: [keda.sh]
  resources: [scaledobjects, scaledjobs]
  verbs: [get, list, watch]
- apiGroups: [argoproj.io]
  resources: [rollouts]
  verbs: [get, list, watch]
- apiGroups: [karpenter.sh]
  resources: [nodepools, nodeclaims, nodeoverlays]
  verbs: [get, list, watch]
- apiGroups: [karpenter.azure.com]
  resources: [aksnodeclasses]
  verbs: [get, list, watch]
- apiGroups: [nodeform.dev]
  resources: [nodefleets, nodeplans, nodeplanchunks, nodeplanapprovals]
  verbs: [get, list, watch]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, list, watch]
{{- end }}
{{- define "nodeform.proposer" -}}
{{ printf "%s-proposer" .Release.Name }}
{{- end }}
{{- define "nodeform.proposerServiceAccount" -}}
{{- with .Values.proposer.serviceAccount }}
{{- if .create }}{{ default (include "nodeform.proposer" $) .name }}{{ else }}{{ default "default" .name }}{{ end }}
{{- end }}
{{- end }}
{{- /* Not those of the controller, whose Service and PodDisruptionBudget would count its Pods. */ -}}
{{- define "nodeform.proposerSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}-proposer
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "nodeform.proposerLabels" -}}
{{ include "nodeform.proposerSelector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
