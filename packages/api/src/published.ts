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

/** The shared schemas of all OpenAPI documents. */
export const vocabulary: Vocabulary = {
  objectMeta,
  listMeta,
  status,
  deleteOptions,
  watchEvent,
  apiResourceList,
  kinds: builtinKinds,
};

/** Subresources with an object of another kind, or without the verbs get, update and patch. */
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

/** Resources whose DELETE returns the object. */
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

/** All built-in resources, as OpenAPI publishes them. */
export const publishedResources: readonly PublishedResource[] = builtinKinds.map((kind) => ({
  kind,
  returnsDeleted: returningDeleted.has(kind.plural),
  subresources: kind.subresources.map((name): PublishedSubresource => {
    const other = special[`${kind.plural}/${name}`] ?? (name === 'scale' ? { kind: scale } : {});
    return { name, verbs: ['get', 'patch', 'update'], ...other };
  }),
}));
