{{/* The server's container. */}}
{{- define "weft.container" -}}
- name: memcached
  image: {{ include "weft.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  {{- if .Values.containerSecurityContext.enabled }}
  securityContext: {{- omit .Values.containerSecurityContext "enabled" | toYaml | nindent 4 }}
  {{- end }}
  args:
    - memcached
    {{- if .Values.persistence.enabled }}
    - --memory-file=/cache-state/memory_file
    {{- range .Values.persistence.extraFlags }}
    - {{ . | quote }}
    {{- end }}
    {{- end }}
    {{- if .Values.metrics.enabled }}
    - --metrics-port={{ .Values.containerPorts.metrics }}
    - --metrics-address=0.0.0.0
    {{- end }}
    {{- range .Values.args }}
    - {{ . | quote }}
    {{- end }}
  env:
    - name: MEMCACHED_PORT_NUMBER
      value: {{ .Values.containerPorts.memcached | quote }}
    - name: MEMCACHED_CACHE_SIZE
      value: {{ .Values.cacheSize | quote }}
    - name: MEMCACHED_THREADS
      value: {{ .Values.threads | quote }}
    - name: MEMCACHED_MAX_CONNECTIONS
      value: {{ .Values.maxConnections | quote }}
    {{- with .Values.maxItemSize }}
    - name: MEMCACHED_MAX_ITEM_SIZE
      value: {{ . | quote }}
    {{- end }}
    {{- with .Values.extraFlags }}
    - name: MEMCACHED_EXTRA_FLAGS
      value: {{ . | quote }}
    {{- end }}
    {{- if .Values.auth.enabled }}
    - name: MEMCACHED_USERNAME
      value: {{ default "root" .Values.auth.username | quote }}
    - name: MEMCACHED_PASSWORD_FILE
      value: /run/secrets/weft/memcached-password
    {{- end }}
    {{- with .Values.extraEnvVars }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  ports:
    - name: memcached
      containerPort: {{ .Values.containerPorts.memcached }}
    {{- if .Values.metrics.enabled }}
    - name: metrics
      containerPort: {{ .Values.containerPorts.metrics }}
    {{- end }}
  # A plain connect: no command is answered before a log-in.
  {{- if .Values.livenessProbe.enabled }}
  livenessProbe:
    tcpSocket:
      port: memcached
    {{- omit .Values.livenessProbe "enabled" | toYaml | nindent 4 }}
  {{- end }}
  {{- if .Values.readinessProbe.enabled }}
  readinessProbe:
    tcpSocket:
      port: memcached
    {{- omit .Values.readinessProbe "enabled" | toYaml | nindent 4 }}
  {{- end }}
  {{- if .Values.persistence.enabled }}
  lifecycle:
    preStop:
      exec:
        # SIGUSR1 has the items written; the container ends with the server, or after 60 s.
        command: ["/bin/sh", "-c", "pkill -10 memcached; sleep 60"]
  {{- end }}
  {{- with .Values.resources }}
  resources: {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    {{- if .Values.auth.enabled }}
    - name: password
      mountPath: /run/secrets/weft
      readOnly: true
    {{- end }}
    {{- if .Values.persistence.enabled }}
    - name: cache-state
      mountPath: /cache-state
    {{- end }}
    {{- with .Values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
