import type { Pod } from '@kruise/api/core/pod';
import { addPod, createNodeInfo, isPortUsed, type NodeInfo } from '../cluster/node-info.ts';
import { type PodInfo, podInfoOf } from '../cluster/pod-info.ts';
import type { Plugin } from '../plugin.ts';

const name = 'NodePorts';
const reason = "node(s) didn't have free ports for the requested pod ports";
const rejection = { plugin: name, isPreemptable: true, reasons: [reason] };

/** NodePorts plugin: rejects nodes where another Pod uses a requested host port. */
export const nodePorts: Plugin = {
  name,
  isLocal: true,
  filter(pod) {
    if (pod.hostPorts.length === 0) return undefined;
    return { filter: { check: (node) => (collides(pod, node) ? rejection : undefined) } };
  },
  events: [
    {
      resource: 'Pod',
      actions: ['Delete'],
      helps(pod, { before }) {
        const gone = before as Pod;
        if (!gone.spec?.nodeName && !gone.status?.nominatedNodeName) return false;
        const node = createNodeInfo('');
        addPod(node, podInfoOf(gone));
        return collides(pod, node);
      },
    },
    { resource: 'Node', actions: ['Add'] },
  ],
};

function collides({ hostPorts }: PodInfo, { usedPorts }: NodeInfo): boolean {
  return usedPorts.size > 0 && hostPorts.some((port) => isPortUsed(usedPorts, port));
}
