import type { Kind } from '@kruise/schema/kind';

/** Discovery metadata of a subresource: its kind and verbs. */
export type SubresourceMetadata = {
  readonly name: string;
  readonly kind: string;
  /** API group of the kind, if it differs from that of the resource. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
};

const change = ['get', 'patch', 'update'];
const streamVerbs = ['create', 'get'];
const proxy = ['create', 'delete', 'get', 'patch', 'update'];

type Metadata = {
  readonly kind?: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
};

/** Metadata by name, or by resource and name where the same name differs between resources. */
const metadata: { readonly [name: string]: Metadata } = {
  status: { verbs: change },
  scale: { kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: change },
  attach: { kind: 'PodAttachOptions', verbs: streamVerbs },
  exec: { kind: 'PodExecOptions', verbs: streamVerbs },
  portforward: { kind: 'PodPortForwardOptions', verbs: streamVerbs },
  binding: { kind: 'Binding', verbs: ['create'] },
  eviction: { kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
  ephemeralcontainers: { verbs: change },
  resize: { verbs: change },
  log: { verbs: ['get'] },
  'pods/proxy': { kind: 'PodProxyOptions', verbs: proxy },
  'nodes/proxy': { kind: 'NodeProxyOptions', verbs: proxy },
  'services/proxy': { kind: 'ServiceProxyOptions', verbs: proxy },
  token: { kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
  finalize: { verbs: ['update'] },
  approval: { verbs: change },
};

/** Returns the subresources of a kind. */
export function subresourceMetadataOf(kind: Kind): readonly SubresourceMetadata[] {
  return kind.subresources.map((name) => {
    const known = metadata[`${kind.plural}/${name}`] ?? metadata[name];
    if (!known) throw new Error(`nothing is known of the subresource ${name} of ${kind.plural}`);
    return { kind: kind.kind, ...known, name };
  });
}
