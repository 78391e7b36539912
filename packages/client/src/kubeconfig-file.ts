import { formatYaml } from '@kruise/schema/yaml-write';
import type { ClientCertificate } from './http/dial.ts';
import type { KubeconfigCluster, KubeconfigContext, KubeconfigUser } from './kubeconfig.ts';

/** A kubeconfig as it is in a file. */
export type KubeconfigFile = {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly clusters: readonly { readonly name: string; readonly cluster: KubeconfigCluster }[];
  readonly contexts: readonly { readonly name: string; readonly context: KubeconfigContext }[];
  readonly users: readonly { readonly name: string; readonly user: KubeconfigUser }[];
  readonly 'current-context': string;
};

/** What a kubeconfig of one cluster says. */
export type OneCluster = {
  /** Of the cluster, the user and the context alike. */
  readonly name: string;
  readonly server: string;
  /** The authorities that vouch for the server, in PEM. */
  readonly authorities: string;
  readonly certificate: ClientCertificate;
};

/** Bytes as kubeconfigs hold them. */
export function kubeconfigData(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The kubeconfig of a cluster, with everything in it and nothing beside it. */
export function kubeconfigFileOf({ name, server, authorities, certificate }: OneCluster): KubeconfigFile {
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

/** The text of a kubeconfig. */
export function formatKubeconfig(file: KubeconfigFile): string {
  return formatYaml(file);
}
