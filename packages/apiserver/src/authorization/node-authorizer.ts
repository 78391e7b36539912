import type { PolicyRule } from '@kruise/api/rbac/rule';
import { parseFieldSelector, requiredField } from '@kruise/machinery/field-selector';
import { ParseError } from '@kruise/values/parse-error';
import type { User } from '../user.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import type { NodeGraph, Related } from './node-graph.ts';
import { allows } from './rule.ts';

type ResourceAttributes = Extract<Attributes, { resource: true }>;

const allowed: Decision = { verdict: 'allow', reason: '' };
const noOpinion: Decision = { verdict: 'no-opinion', reason: '' };
const noOpinionBecause = (reason: string): Decision => ({ verdict: 'no-opinion', reason });

const nodeUser = 'system:node:';

/** Returns the node name of a user: undefined if the user is no node, empty if the node name is missing. */
export function nodeOf({ username, groups }: User): string | undefined {
  if (!username.startsWith(nodeUser)) return undefined;
  return groups.includes('system:nodes') ? username.slice(nodeUser.length) : undefined;
}

/** Node authorizer: a kubelet may read the objects that its Pods reference, and write its own objects. */
export function createNodeAuthorizer(graph: NodeGraph, nodeRules: readonly PolicyRule[]): Authorizer {
  function ifRelated(node: string, resource: Related, { namespace, name }: ResourceAttributes): Decision {
    if (name === '') return noOpinionBecause('No Object name found');
    if (graph.isRelated(node, resource, namespace, name)) return allowed;
    return noOpinionBecause(`no relationship found between node '${node}' and this object`);
  }

  function read(node: string, resource: 'secrets' | 'configmaps', wanted: ResourceAttributes): Decision {
    if (!['get', 'list', 'watch'].includes(wanted.verb))
      return noOpinionBecause('can only read resources of this type');
    if (wanted.subresource !== '') return noOpinionBecause('cannot read subresource');
    if (wanted.namespace === '') return noOpinionBecause('can only read namespaced object of this type');
    return ifRelated(node, resource, wanted);
  }

  function get(node: string, resource: Related, wanted: ResourceAttributes): Decision {
    if (wanted.verb !== 'get') return noOpinionBecause('can only get individual resources of this type');
    if (wanted.subresource !== '') return noOpinionBecause('cannot get subresource');
    return ifRelated(node, resource, wanted);
  }

  function claim(node: string, wanted: ResourceAttributes): Decision {
    if (wanted.subresource !== 'status') return get(node, 'persistentvolumeclaims', wanted);
    if (wanted.verb !== 'update' && wanted.verb !== 'patch')
      return noOpinionBecause('can only get/update/patch this type');
    return ifRelated(node, 'persistentvolumeclaims', wanted);
  }

  function account(node: string, wanted: ResourceAttributes): Decision {
    if (wanted.verb === 'get' && wanted.subresource === '')
      return noOpinionBecause('not allowed to get service accounts');
    if (wanted.verb !== 'create' || wanted.name === '') {
      return noOpinionBecause('can only create tokens for individual service accounts');
    }
    if (wanted.subresource !== 'token') return noOpinionBecause('can only create token subresource of serviceaccount');
    return ifRelated(node, 'serviceaccounts', wanted);
  }

  function pod(node: string, wanted: ResourceAttributes): Decision {
    const { verb, subresource } = wanted;
    if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : noOpinion;
    if (subresource === 'eviction') return verb === 'create' ? allowed : noOpinion;
    if (subresource !== '') return noOpinion;
    switch (verb) {
      case 'create':
      case 'delete':
        return allowed;
      case 'get':
        return get(node, 'pods', wanted);
      case 'list':
      case 'watch':
        if (demands(wanted.fieldSelector, 'spec.nodeName', node)) return allowed;
        if (wanted.name !== '') return ifRelated(node, 'pods', wanted);
        return noOpinionBecause('can only list/watch pods with spec.nodeName field selector');
      default:
        return noOpinion;
    }
  }

  function decide(node: string, wanted: ResourceAttributes): Decision | undefined {
    switch (`${wanted.plural}.${wanted.group}`) {
      case 'secrets.':
        return read(node, 'secrets', wanted);
      case 'configmaps.':
        return read(node, 'configmaps', wanted);
      case 'persistentvolumeclaims.':
        return claim(node, wanted);
      case 'persistentvolumes.':
        return get(node, 'persistentvolumes', wanted);
      case 'volumeattachments.storage.k8s.io':
        return get(node, 'volumeattachments', wanted);
      case 'serviceaccounts.':
        return account(node, wanted);
      case 'leases.coordination.k8s.io':
        return lease(node, wanted);
      case 'csinodes.storage.k8s.io':
        return csiNode(node, wanted);
      case 'nodes.':
        return itself(node, wanted);
      case 'pods.':
        return pod(node, wanted);
      default:
        return undefined;
    }
  }

  return {
    authorize(attributes) {
      const node = nodeOf(attributes.user);
      if (node === undefined) return noOpinion;
      if (node === '') return noOpinionBecause(`unknown node for user ${JSON.stringify(attributes.user.username)}`);
      const decision = attributes.resource ? decide(node, attributes) : undefined;
      if (decision) return decision;
      return nodeRules.some((rule) => allows(rule, attributes)) ? allowed : noOpinion;
    },
  };
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete'];

function lease(node: string, { verb, namespace, name }: ResourceAttributes): Decision {
  if (!ownVerbs.includes(verb)) return noOpinionBecause('can only get, create, update, patch, or delete a node lease');
  if (namespace !== 'kube-node-lease') {
    return noOpinionBecause('can only access leases in the "kube-node-lease" system namespace');
  }
  // A create request has no name in its path.
  if (verb !== 'create' && name !== node) {
    return noOpinionBecause('can only access node lease with the same name as the requesting node');
  }
  return allowed;
}

function csiNode(node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  if (!ownVerbs.includes(verb)) return noOpinionBecause('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return noOpinionBecause('cannot authorize CSINode subresources');
  if (verb !== 'create' && name !== node) {
    return noOpinionBecause('can only access CSINode with the same name as the requesting node');
  }
  return allowed;
}

function itself(node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  const writes = verb === 'update' || verb === 'patch';
  if (subresource === 'status') return writes ? allowed : noOpinion;
  if (subresource !== '') return noOpinion;
  if (writes || verb === 'create') return allowed;
  if (!['get', 'list', 'watch'].includes(verb)) return noOpinion;
  if (name === node) return allowed;
  if (name === '') return noOpinionBecause(`node '${node}' cannot read all nodes, only its own Node object`);
  return noOpinionBecause(`node '${node}' cannot read '${name}', only its own Node object`);
}

/** Reports whether a field selector requires exactly this value. */
function demands(selector: string | undefined, field: string, value: string): boolean {
  if (selector === undefined) return false;
  try {
    return requiredField(parseFieldSelector(selector), field) === value;
  } catch (error) {
    // An unparsable selector restricts nothing; the handler that evaluates the selector reports the error.
    if (error instanceof ParseError) return false;
    throw error;
  }
}
