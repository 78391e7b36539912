/** Objects of the tests with real containers. */

export const busybox = 'docker.io/library/busybox:latest';
export const otherBusybox = 'docker.io/library/busybox:1.32';
export const nginx = 'docker.io/library/nginx:1.14.2';
export const pulledImage = 'docker.io/library/nginx:alpine';
/** Has curl and dig. */
export const agnhost = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
export const pause = 'registry.k8s.io/pause:3.10';

export type PodParts = {
  readonly name: string;
  readonly spec: { readonly [field: string]: unknown };
  readonly labels?: { readonly [key: string]: string };
};

export function pod({ name, spec, labels = {} }: PodParts): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: { terminationGracePeriodSeconds: 1, ...spec },
  };
}

/** A container that runs a shell script. */
export function script(name: string, command: string, more: object = {}): object {
  return { name, image: busybox, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', command], ...more };
}

/** Sleeps until SIGTERM, and exits at once. */
export const sleeps = 'trap "exit 0" TERM; sleep 3600 & wait';

/** A web server with a probe of each kind. */
export const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'nginx',
            image: nginx,
            startupProbe: { exec: { command: ['test', '-f', '/run/nginx.pid'] }, periodSeconds: 1 },
            readinessProbe: { httpGet: { port: 80, path: '/' }, periodSeconds: 1 },
            livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 2 },
          },
        ],
      },
    },
  },
};

export const configuration = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'configuration' },
  data: { key: 'from the ConfigMap' },
};

export const credentials = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'credentials' },
  stringData: { password: 'from the Secret' },
};

/** Prints what is in its volumes. */
export const volumes = pod({
  name: 'volumes',
  spec: {
    restartPolicy: 'Never',
    securityContext: { fsGroup: 2000 },
    containers: [
      script(
        'main',
        [
          'set -e',
          'cat /configuration/key; echo',
          'cat /credentials/password; echo',
          'echo $FROM_ENVIRONMENT',
          'cat /all/name; echo',
          'test -s /all/token && echo token',
          'test -s /var/run/secrets/kubernetes.io/serviceaccount/ca.crt && echo authority',
          'echo scratch > /scratch/file && cat /part/file',
          'stat -f -c %T /memory /credentials /all',
          'stat -c %g /scratch',
        ].join('\n'),
        {
          env: [{ name: 'FROM_ENVIRONMENT', valueFrom: { configMapKeyRef: { name: 'configuration', key: 'key' } } }],
          volumeMounts: [
            { name: 'configuration', mountPath: '/configuration' },
            { name: 'credentials', mountPath: '/credentials' },
            { name: 'all', mountPath: '/all' },
            { name: 'scratch', mountPath: '/scratch' },
            { name: 'scratch', mountPath: '/part/file', subPath: 'file' },
            { name: 'memory', mountPath: '/memory' },
          ],
        },
      ),
    ],
    initContainers: [
      script('prepare', 'touch /scratch/file', { volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] }),
    ],
    volumes: [
      { name: 'configuration', configMap: { name: 'configuration' } },
      { name: 'credentials', secret: { secretName: 'credentials' } },
      {
        name: 'all',
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token' } },
            { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
          ],
        },
      },
      { name: 'scratch', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    ],
  },
});

/** Fails once, then succeeds. */
export const restarts = pod({
  name: 'restarts',
  spec: {
    restartPolicy: 'OnFailure',
    containers: [
      script('main', 'if test -f /scratch/seen; then exit 0; fi; touch /scratch/seen; echo failing; exit 3', {
        volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
        terminationMessagePolicy: 'FallbackToLogsOnError',
      }),
    ],
    volumes: [{ name: 'scratch', emptyDir: {} }],
  },
});

/** An init container, a sidecar and a container that end. */
export const sidecar = pod({
  name: 'sidecar',
  spec: {
    restartPolicy: 'Never',
    initContainers: [
      script('first', 'echo first >> /shared/order', { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] }),
      script('beside', `echo beside >> /shared/order; touch /shared/up; ${sleeps}`, {
        restartPolicy: 'Always',
        startupProbe: { exec: { command: ['test', '-f', '/shared/up'] }, periodSeconds: 1 },
        volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
      }),
    ],
    containers: [
      script('main', 'echo main >> /shared/order; cat /shared/order', {
        volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
      }),
    ],
    volumes: [{ name: 'shared', emptyDir: {} }],
  },
});

/** Stops answering its liveness probe two seconds after its first start. */
export const liveness = pod({
  name: 'liveness',
  spec: {
    containers: [
      script(
        'main',
        `test -f /scratch/seen || { touch /scratch/seen; (sleep 2; rm /tmp/alive) & }; touch /tmp/alive; ${sleeps}`,
        {
          livenessProbe: { exec: { command: ['cat', '/tmp/alive'] }, periodSeconds: 1, failureThreshold: 1 },
          volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
        },
      ),
    ],
    volumes: [{ name: 'scratch', emptyDir: {} }],
  },
});

/** Writes to a directory of the machine after it starts, before it stops, and when it stops. */
export function hooks(directory: string): object {
  const write = (text: string) => ({ exec: { command: ['sh', '-c', `echo ${text} >> /machine/order`] } });
  return pod({
    name: 'hooks',
    spec: {
      terminationGracePeriodSeconds: 20,
      containers: [
        script('main', 'trap "echo stopped >> /machine/order; exit 0" TERM; sleep 3600 & wait', {
          lifecycle: { postStart: write('started'), preStop: write('stopping') },
          volumeMounts: [{ name: 'machine', mountPath: '/machine' }],
        }),
      ],
      volumes: [{ name: 'machine', hostPath: { path: directory, type: 'Directory' } }],
    },
  });
}

/** A CloneSet with two containers that is updated in place. */
export function cloneSet(image: string): object {
  const labels = { app: 'clones' };
  return {
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'CloneSet',
    metadata: { name: 'clones' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      updateStrategy: { type: 'InPlaceOnly', maxUnavailable: '100%' },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [{ ...script('main', sleeps), image }, script('beside', sleeps)],
        },
      },
    },
  };
}

export function recreateRequest(podName: string): object {
  return {
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'ContainerRecreateRequest',
    metadata: { name: 'again' },
    spec: { podName, containers: [{ name: 'beside' }] },
  };
}

export const pullJob = {
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'ImagePullJob',
  metadata: { name: 'pull' },
  spec: { image: pulledImage, completionPolicy: { type: 'Always' } },
};
