import type { ConfigMap } from '@kruise/api/core/configmap';
import type { Namespace } from '@kruise/api/core/namespace';
import { create, update } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';

export type Observed = {
  readonly namespace: Namespace;
  readonly published: ConfigMap | undefined;
  /** CA bundle, as PEM. */
  readonly authorities: string;
};

/** Name of the ConfigMap that every Pod mounts beside its token. */
export const publishedName = 'kube-root-ca.crt';

const descriptionKey = 'kubernetes.io/description';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Maintains the CA bundle ConfigMap in every active namespace, and reverts changes to it. */
export function decide({ namespace, published, authorities }: Observed): Decision<undefined> {
  if (namespace.status?.phase !== 'Active') return { actions: [] };
  const data = { 'ca.crt': authorities };
  if (!published) {
    const metadata = {
      name: publishedName,
      namespace: namespace.metadata.name ?? '',
      annotations: { [descriptionKey]: description },
    };
    return { actions: [create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as ConfigMap)] };
  }
  const { metadata } = published;
  // The description may be changed by users.
  if (isSame(published.data, data) && metadata.annotations?.[descriptionKey]) return { actions: [] };
  const annotations = { ...metadata.annotations, [descriptionKey]: description };
  return { actions: [update({ ...published, metadata: { ...metadata, annotations }, data } as ConfigMap)] };
}
