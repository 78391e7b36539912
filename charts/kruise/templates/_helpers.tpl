{{/* What keeps webhooks out of the namespaces that Azure looks after. */}}
{{- define "kruise.outsideAzure" -}}
- key: control-plane
  operator: NotIn
  values:
  - "true"
- key: kubernetes.azure.com/managedby
  operator: NotIn
  values:
  - aks
{{- end }}

{{/* An account, with the tokens it has been given. */}}
{{- define "kruise.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .name }}
  namespace: {{ .root.Values.installation.namespace }}
  {{- with .root.Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- with (lookup "v1" "ServiceAccount" .root.Values.installation.namespace .name).secrets }}
secrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* When an object of a hook is made, and when it is deleted. */}}
{{- define "kruise.beforeDeletion" -}}
helm.sh/hook: pre-delete
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
helm.sh/hook-weight: {{ . | quote }}
{{- end }}

{{/* What every container gives up: everything that neither program needs. No port of theirs is below 1024. */}}
{{- define "kruise.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
  - ALL
{{- if semverCompare ">= 1.19.0-0" .Capabilities.KubeVersion.Version }}
seccompProfile:
  type: RuntimeDefault
{{- end }}
{{- end }}
