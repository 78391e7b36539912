import type { Kind } from '@kruise/schema/kind';

/** Discovery metadata of a subresource: its kind and verbs. */
export type SubresourceFacts = {
  readonly name: string;
  readonly kind: string;
  /** API group of the kind, if it differs from that of the resource. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
};

const change = ['get', 'patch', 'update'];
const talk = ['create', 'get'];
const proxy = ['create', 'delete', 'get', 'patch', 'update'];

type Facts = {
  readonly kind?: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
};

/** Metadata by name, or by resource and name where the same name differs between resources. */
const facts: { readonly [name: string]: Facts } = {
  status: { verbs: change },
  scale: { kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: change },
  attach: { kind: 'PodAttachOptions', verbs: talk },
  exec: { kind: 'PodExecOptions', verbs: talk },
  portforward: { kind: 'PodPortForwardOptions', verbs: talk },
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
export function subresourceFactsOf(kind: Kind): readonly SubresourceFacts[] {
  return kind.subresources.map((name) => {
    const known = facts[`${kind.plural}/${name}`] ?? facts[name];
    if (!known) throw new Error(`nothing is known of the subresource ${name} of ${kind.plural}`);
    return { kind: kind.kind, ...known, name };
  });
}
