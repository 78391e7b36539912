{{/* Excludes the namespaces that AKS manages from webhooks. */}}
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

{{/* A ServiceAccount with its existing token Secrets. */}}
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

{{/* Annotations of pre-delete hook objects. */}}
{{- define "kruise.beforeDeletion" -}}
helm.sh/hook: pre-delete
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
helm.sh/hook-weight: {{ . | quote }}
{{- end }}

{{/* Restricted security context of every container. No port is below 1024, so no capability is needed. */}}
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
