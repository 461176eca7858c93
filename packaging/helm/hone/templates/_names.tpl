{{- define "hone.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
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
{{- define "hone.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end -}}
{{- define "hone.workers" -}}
{{- .Values.workers.namespace | default (printf "%s-workers" (include "hone.name" .)) -}}
{{- end -}}
{{/* One variable from a key of a Secret: a list of name, Secret, key. */}}
{{- define "hone.secretVariable" -}}
- name: {{ index . 0 }}
  valueFrom: {secretKeyRef: {name: {{ index . 1 }}, key: {{ index . 2 }}}}
{{- end -}}
{{/* Variables of the server. */}}
{{- define "hone.environment" -}}
{{- with .Values.publicUrl }}
- {name: HONE_PUBLIC_URL, value: {{ . | quote }}}
{{- end }}
{{- with .Values.adminPasswordSecret }}
{{ include "hone.secretVariable" (list "HONE_ADMIN_PASSWORD" . "password") }}
{{- end }}
{{- with .Values.databaseSecret }}
{{ include "hone.secretVariable" (list "HONE_DATABASE_URL" . "url") }}
{{- end }}
{{- if .Values.masterKeySecret }}
- {name: HONE_MASTER_KEY_FILE, value: /etc/hone/keys/master.key}
{{- end }}
{{- with .Values.clickhouse.url }}
- {name: HONE_CLICKHOUSE_URL, value: {{ . | quote }}}
{{- end }}
{{- with .Values.clickhouse.secret }}
{{ include "hone.secretVariable" (list "HONE_CLICKHOUSE_USER" . "user") }}
{{ include "hone.secretVariable" (list "HONE_CLICKHOUSE_PASSWORD" . "password") }}
{{- end }}
{{- with .Values.objectStore.url }}
- {name: HONE_OBJECT_STORE, value: {{ . | quote }}}
{{- end }}
{{- with .Values.objectStore.secret }}
{{ include "hone.secretVariable" (list "AWS_ACCESS_KEY_ID" . "AWS_ACCESS_KEY_ID") }}
{{ include "hone.secretVariable" (list "AWS_SECRET_ACCESS_KEY" . "AWS_SECRET_ACCESS_KEY") }}
{{- end }}
{{- if .Values.workers.enabled }}
- {name: HONE_KUBERNETES_KUBECONFIG, value: in-cluster}
- {name: HONE_KUBERNETES_NAMESPACE, value: {{ include "hone.workers" . }}}
- {name: HONE_KUBERNETES_IMAGE, value: {{ .Values.workers.image | quote }}}
- {name: HONE_KUBERNETES_TOOLS_IMAGE, value: {{ include "hone.image" . | quote }}}
- {name: HONE_KUBERNETES_POD_USER, value: {{ .Values.workers.podUser }}}
{{- with .Values.workers.runtimeClass }}
- {name: HONE_KUBERNETES_RUNTIME_CLASS, value: {{ . }}}
{{- end }}
{{- with .Values.workers.storageClass }}
- {name: HONE_KUBERNETES_STORAGE_CLASS, value: {{ . }}}
{{- end }}
{{- end }}
{{- $known := .Files.Lines "settings.txt" }}
{{- range $name, $value := .Values.env }}
{{- if not (has $name $known) }}
{{- fail (printf "env: there is no setting %s that a value of the chart may set; settings.txt lists them" $name) }}
{{- end }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end -}}
