import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@kruise/values/clock';
import type { Environment } from './http/proxy.ts';
import { tokenFile } from './kubeconfig/token-file.ts';
import { KubeconfigError, type ResolvedServer } from './kubeconfig.ts';

/** Mount path of the service account token in a Pod. */
const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Environment and mount path of the service account, for tests. */
export type InClusterLocation = { readonly environment?: Environment; readonly directory?: string };

/** Reports whether this process runs in a Pod with a service account token. */
export function isInCluster({
  environment = process.env,
  directory = serviceAccountDirectory,
}: InClusterLocation = {}): boolean {
  return (
    !!environment.KUBERNETES_SERVICE_HOST &&
    !!environment.KUBERNETES_SERVICE_PORT &&
    existsSync(join(directory, 'token'))
  );
}

/** Returns the in-cluster configuration: the API server of this cluster, with the service account of this Pod. */
export function inClusterServer(clock: Clock, location: InClusterLocation = {}): ResolvedServer {
  const { environment = process.env, directory = serviceAccountDirectory } = location;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port) {
    throw new KubeconfigError('not in a Pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set');
  }
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    authorities: read('ca.crt'),
    credentials: tokenFile(join(directory, 'token'), clock),
    namespace: existsSync(join(directory, 'namespace')) ? read('namespace').trim() : 'default',
  };
}
