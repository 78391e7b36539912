import type { PublishedResource, PublishedSubresource, Vocabulary } from '@kruise/schema/openapi-v3';
import { tokenRequest } from './authentication/tokenrequest.ts';
import { scale } from './autoscaling/scale.ts';
import { builtinKinds } from './builtin.ts';
import { binding } from './core/binding.ts';
import {
  nodeProxyOptions,
  podAttachOptions,
  podExecOptions,
  podLogOptions,
  podPortForwardOptions,
  podProxyOptions,
  serviceProxyOptions,
} from './core/pod-options.ts';
import { apiResourceList } from './meta/discovery.ts';
import { listMeta } from './meta/list-meta.ts';
import { objectMeta } from './meta/object-meta.ts';
import { deleteOptions } from './meta/options.ts';
import { status } from './meta/status.ts';
import { watchEvent } from './meta/watch-event.ts';
import { eviction } from './policy/eviction.ts';

/** The schemas every OpenAPI document is made of. */
export const vocabulary: Vocabulary = {
  objectMeta,
  listMeta,
  status,
  deleteOptions,
  watchEvent,
  apiResourceList,
  kinds: builtinKinds,
};

/** Subresources that are not the object itself under other rules, or cannot be read, replaced and patched. */
const special: { readonly [resource: string]: Omit<PublishedSubresource, 'name'> } = {
  'namespaces/finalize': { verbs: ['update'] },
  'nodes/proxy': { verbs: ['create', 'delete', 'get', 'patch', 'update'], options: nodeProxyOptions },
  'pods/attach': { verbs: ['create', 'get'], options: podAttachOptions },
  'pods/binding': { verbs: ['create'], kind: binding },
  'pods/eviction': { verbs: ['create'], kind: eviction },
  'pods/exec': { verbs: ['create', 'get'], options: podExecOptions },
  'pods/log': { verbs: ['get'], options: podLogOptions },
  'pods/portforward': { verbs: ['create', 'get'], options: podPortForwardOptions },
  'pods/proxy': { verbs: ['create', 'delete', 'get', 'patch', 'update'], options: podProxyOptions },
  'serviceaccounts/token': { verbs: ['create'], kind: tokenRequest },
  'services/proxy': { verbs: ['create', 'delete', 'get', 'patch', 'update'], options: serviceProxyOptions },
};

/** Resources of which a DELETE answers with the object. */
const returningDeleted: ReadonlySet<string> = new Set([
  'csidrivers',
  'csinodes',
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'resourcequotas',
  'serviceaccounts',
  'services',
  'storageclasses',
  'volumeattachments',
]);

/** Every built-in resource, as OpenAPI publishes it. */
export const publishedResources: readonly PublishedResource[] = builtinKinds.map((kind) => ({
  kind,
  returnsDeleted: returningDeleted.has(kind.plural),
  subresources: kind.subresources.map((name): PublishedSubresource => {
    const other = special[`${kind.plural}/${name}`] ?? (name === 'scale' ? { kind: scale } : {});
    return { name, verbs: ['get', 'patch', 'update'], ...other };
  }),
}));
