/** Node object as last seen by its kubelet. A change of the Pod CIDR is passed to the runtime. */
import type { Node } from '@kruise/api/core/node';
import { GrpcError } from '@kruise/client/grpc/status';
import type { Log } from '@kruise/client/log';
import { isVersionAtLeast } from '@kruise/client/object-key';
import type { NodeRuntime } from '../../cri/runtime.ts';

/** The Node object of a kubelet. */
export type CurrentNode = {
  /** Returns the Node object; undefined before registration and after its deletion. */
  get(): Node | undefined;
  /** Sets the Node object; an older version is ignored. */
  set(node: Node | undefined): void;
};

/** Dependencies of the Node object. */
export type CurrentNodeContext = {
  readonly runtime: NodeRuntime;
  readonly log: Log;
  readonly nodeName: string;
  readonly record: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
  /** Called after the runtime has a new Pod CIDR. */
  readonly onNetworkChange: () => Promise<void>;
};

/** Creates the Node object of a kubelet that is not registered yet. */
export function createCurrentNode(context: CurrentNodeContext, signal: AbortSignal): CurrentNode {
  const { runtime, log, nodeName, record, onNetworkChange } = context;
  let current: Node | undefined;
  let podRanges = '';

  function set(found: Node | undefined): void {
    if (found === undefined) {
      current = undefined;
      return;
    }
    if (current && isOlder(found, current)) return;
    recordSchedulableChange(found);
    current = found;
    const ranges = (found.spec?.podCIDRs ?? (found.spec?.podCIDR ? [found.spec.podCIDR] : [])).join(',');
    if (ranges === '' || ranges === podRanges) return;
    podRanges = ranges;
    void runtime
      .updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr: ranges } } }, { signal })
      .then(onNetworkChange)
      .catch((error: unknown) => {
        if (!isUnimplemented(error)) {
          log.warn({ node: nodeName, error }, 'failed to update runtime config with pod CIDR');
        }
      });
  }

  function recordSchedulableChange({ spec }: Node): void {
    const isCordoned = spec?.unschedulable ?? false;
    if (!current || isCordoned === (current.spec?.unschedulable ?? false)) return;
    const event = isCordoned ? 'NodeNotSchedulable' : 'NodeSchedulable';
    record('Normal', event, `Node ${nodeName} status is now: ${event}`);
  }

  return { get: () => current, set };
}

function isOlder({ metadata: found }: Node, { metadata: current }: Node): boolean {
  return found.uid === current.uid && !isVersionAtLeast(found.resourceVersion, current.resourceVersion ?? '');
}

function isUnimplemented(error: unknown): boolean {
  return error instanceof GrpcError && error.code === 'UNIMPLEMENTED';
}
