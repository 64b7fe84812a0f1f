{{/* Names and labels, by which the parts of a release find each other. */}}
{{- define "weft.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "weft.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "weft.labels" -}}
{{ include "weft.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "weft.image" -}}
{{- $name := .Values.image.repository -}}
{{- if .Values.image.registry -}}
{{- $name = printf "%s/%s" .Values.image.registry $name -}}
{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $name .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "weft.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "weft.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "weft.passwordSecret" -}}
{{- default (include "weft.fullname" .) .Values.auth.existingPasswordSecret -}}
{{- end -}}

{{/* Stops at settings that would not do what they say. */}}
{{- define "weft.check" -}}
{{- if not (has .Values.architecture (list "standalone" "high-availability")) -}}
{{- fail "architecture: standalone or high-availability" -}}
{{- end -}}
{{- if and .Values.auth.enabled (not .Values.auth.password) (not .Values.auth.existingPasswordSecret) -}}
{{- fail "auth.enabled needs auth.password or auth.existingPasswordSecret" -}}
{{- end -}}
{{- if and .Values.persistence.enabled (ne .Values.architecture "high-availability") -}}
{{- fail "persistence.enabled needs architecture: high-availability" -}}
{{- end -}}
{{- if and .Values.podAntiAffinityPreset (not (has .Values.podAntiAffinityPreset (list "soft" "hard"))) -}}
{{- fail "podAntiAffinityPreset: soft, hard or empty" -}}
{{- end -}}
{{- end -}}
