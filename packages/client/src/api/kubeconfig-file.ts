import { formatYaml } from '@kruise/schema/yaml-write';
import type { ClientCertificate } from './http/dial.ts';
import type { KubeconfigCluster, KubeconfigContext, KubeconfigUser } from './kubeconfig.ts';

/** Contents of a kubeconfig file. */
export type KubeconfigFile = {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly clusters: readonly { readonly name: string; readonly cluster: KubeconfigCluster }[];
  readonly contexts: readonly { readonly name: string; readonly context: KubeconfigContext }[];
  readonly users: readonly { readonly name: string; readonly user: KubeconfigUser }[];
  readonly 'current-context': string;
};

/** Server and credentials of a kubeconfig with one cluster. */
export type SingleClusterConfig = {
  /** Name of the cluster, the user and the context. */
  readonly name: string;
  readonly server: string;
  /** CA bundle of the server in PEM. */
  readonly authorities: string;
  readonly certificate: ClientCertificate;
};

/** Encodes a text for the `-data` fields of a kubeconfig. */
export function kubeconfigData(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Returns a self-contained kubeconfig of one cluster. */
export function kubeconfigFileOf({ name, server, authorities, certificate }: SingleClusterConfig): KubeconfigFile {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': kubeconfigData(authorities) } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [
      {
        name,
        user: {
          'client-certificate-data': kubeconfigData(certificate.certificate),
          'client-key-data': kubeconfigData(certificate.key),
        },
      },
    ],
    'current-context': name,
  };
}

/**
 * Formats a kubeconfig as YAML.
 *
 * ```ts
 * const file = kubeconfigFileOf({ name: 'kruise', server: 'https://127.0.0.1:6443', authorities, certificate });
 * await writeFile('kubeconfig', formatKubeconfig(file));
 * ```
 */
export function formatKubeconfig(file: KubeconfigFile): string {
  return formatYaml(file);
}
