import { type Node, node } from '@kruise/api/core/node';
import { isBeingDeleted, patch, record, withOutcomeEvents } from '@kruise/client/actions';
import { type Controller, type Decision, defineController } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { createNodeRanges, type NodeRangesOptions } from './allocator.ts';

export type Observed = { readonly node: Node; readonly blocks: readonly string[] | undefined };

/** Requeue delay while the range is exhausted; a deleted node frees its blocks. */
const retrySeconds = 10;

/** Node IPAM controller: allocates Pod CIDRs to nodes. */
export function nodeIpamController(options: NodeRangesOptions): Controller {
  const ranges = createNodeRanges(options);
  let isInitialized = false;

  function observe(caches: Caches, key: Key): Observed | undefined {
    const nodes = caches.of(node);
    // Existing allocations must be recorded before the first allocation after a restart.
    if (!isInitialized) for (const each of nodes.list()) recordBlocks(each);
    isInitialized = true;
    const found = nodes.get(key);
    if (!found) {
      ranges.release(key);
      return undefined;
    }
    recordBlocks(found);
    if (isBeingDeleted(found) || found.spec?.podCIDRs?.length) return undefined;
    return { node: found, blocks: ranges.blocksFor(key) };
  }
  function recordBlocks({ metadata, spec }: Node): void {
    if (spec?.podCIDRs?.length) ranges.reserve(metadata.name ?? '', spec.podCIDRs);
  }

  return defineController({
    name: 'node-ipam',
    component: 'cidrAllocator',
    for: node,
    predicate: ({ type, object, previous }) =>
      type !== 'updated' || !object.spec?.podCIDRs?.length || !previous?.spec?.podCIDRs?.length,
    observe,
    decide,
  });
}

export function decide({ node: found, blocks }: Observed): Decision<Node['status']> {
  if (blocks) {
    const assignment = patch(found, { spec: { podCIDR: blocks[0], podCIDRs: blocks } });
    return {
      actions: [withOutcomeEvents(assignment, { about: found, failed: statusChange(found, 'CIDRAssignmentFailed') })],
    };
  }
  return {
    actions: [record({ about: found, ...statusChange(found, 'CIDRNotAvailable') })],
    requeueAfterSeconds: retrySeconds,
  };
}

function statusChange({ metadata }: Node, reason: string) {
  return { type: 'Normal' as const, reason, message: `Node ${metadata.name} status is now: ${reason}` };
}
