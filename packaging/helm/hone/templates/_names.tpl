{{- define "hone.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- define "hone.selector" -}}
app.kubernetes.io/name: hone
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "hone.labels" -}}
{{ include "hone.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
