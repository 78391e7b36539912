import type { Core } from '../core.ts';
import { addSubresource } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { VirtualResource } from '../virtual-resource.ts';
import { componentStatuses } from './component-status.ts';
import { bindingSubresource, bindingsResource } from './pod-binding.ts';
import { evictionSubresource } from './pod-eviction.ts';

/** Adds the binding and eviction subresources of Pods. */
export function addPodActions(core: Core): void {
  const budgets = required(core.resources.find('policy', 'v1', 'poddisruptionbudgets'));
  addSubresource(core.resources, '', 'pods', 'binding', (pods) => bindingSubresource(core, pods));
  addSubresource(core.resources, '', 'pods', 'eviction', (pods) => evictionSubresource(core, pods, budgets));
}

/** Creates the virtual resources of the core group. */
export function coreVirtualResources(core: Core): readonly VirtualResource[] {
  const pods = required(core.resources.find('', 'v1', 'pods'));
  return [bindingsResource(core, pods), componentStatuses(core)];
}

function required(resource: Resource | undefined): Resource {
  if (!resource) throw new Error('a resource Pods depend on is missing');
  return resource;
}
