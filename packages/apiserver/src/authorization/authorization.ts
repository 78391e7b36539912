import { nodeRules } from '../bootstrap/policy/policy.ts';
import { storedObjects } from '../objects/stored-objects.ts';
import type { ResourceRegistry } from '../registry.ts';
import type { Authorizer } from './authorizer.ts';
import { authorizerChain, mastersAuthorizer } from './chain.ts';
import { createNodeAuthorizer } from './node-authorizer.ts';
import { createNodeGraph } from './node-graph.ts';
import { createRbac, type Rbac } from './rbac.ts';

/** Authorization by the objects of the cluster. */
export type Authorization = { readonly authorizer: Authorizer; readonly rbac: Rbac };

/** Creates the authorizer chain: system:masters, then the node authorizer, then RBAC. The first decision counts. */
export function createAuthorization(resources: ResourceRegistry, signal: AbortSignal): Authorization {
  const objects = (group: string, plural: string) => storedObjects(resources, group, plural);
  const ofRbac = (plural: string) => objects('rbac.authorization.k8s.io', plural);
  const rbac = createRbac({
    roles: ofRbac('roles'),
    clusterRoles: ofRbac('clusterroles'),
    roleBindings: ofRbac('rolebindings'),
    clusterRoleBindings: ofRbac('clusterrolebindings'),
  });
  const graph = createNodeGraph(
    {
      pods: objects('', 'pods'),
      persistentVolumes: objects('', 'persistentvolumes'),
      volumeAttachments: objects('storage.k8s.io', 'volumeattachments'),
    },
    signal,
  );
  return { rbac, authorizer: authorizerChain([mastersAuthorizer, createNodeAuthorizer(graph, nodeRules), rbac]) };
}
