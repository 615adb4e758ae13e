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
{{- define "nodeform.image" -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- /* The managed cluster, and what the user adds. */ -}}
{{- define "nodeform.env" -}}
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
{{- with .Values.controller.env }}{{ toYaml . | nindent 0 }}{{ end }}
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
{{- /* The clone of the repository that plans are reviewed in, whatever Git puts beside it, and the token. */ -}}
{{- define "nodeform.gitEnv" -}}
- {name: XDG_CACHE_HOME, value: /cache}
- {name: TMPDIR, value: /cache}
{{- with .Values.review.tokenSecret.name }}
- {name: NODEFORM_GIT_TOKEN_FILE, value: /var/run/secrets/nodeform.dev/git/token}
{{- end }}
{{- with .Values.review.user }}
- {name: NODEFORM_GIT_USER, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- define "nodeform.gitMounts" -}}
- {name: cache, mountPath: /cache}
{{- with .Values.review.tokenSecret.name }}
- {name: git, mountPath: /var/run/secrets/nodeform.dev/git, readOnly: true}
{{- end }}
{{- end }}
{{- define "nodeform.gitVolumes" -}}
- {name: cache, emptyDir: {sizeLimit: 1Gi}}
{{- with .Values.review.tokenSecret }}{{ if .name }}
- name: git
  secret: {secretName: {{ .name | quote }}, defaultMode: 0440, items: [{key: {{ .key | quote }}, path: token}]}
{{- end }}{{ end }}
{{- end }}
