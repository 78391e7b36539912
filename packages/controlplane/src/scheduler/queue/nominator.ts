/** Nominator: Pods that are nominated to nodes, whose victims are being evicted. */
import type { PodInfo } from '../cluster/pod-info.ts';
import type { Nominations } from '../filter.ts';

export type Nominator = Nominations & {
  /** Sets the nominated node of a Pod; an empty name removes the nomination. */
  set(pod: PodInfo, node: string): void;
  remove(uid: string): void;
  nodeOf(uid: string): string | undefined;
};

export function createNominator(): Nominator {
  const nodes = new Map<string, string>();
  const pods = new Map<string, Map<string, PodInfo>>();

  const remove = (uid: string) => {
    const node = nodes.get(uid);
    if (node === undefined) return;
    nodes.delete(uid);
    const there = pods.get(node);
    there?.delete(uid);
    if (there?.size === 0) pods.delete(node);
  };

  return {
    remove,
    set(pod, node) {
      remove(pod.uid);
      if (node === '') return;
      nodes.set(pod.uid, node);
      const there = pods.get(node);
      if (there) there.set(pod.uid, pod);
      else pods.set(node, new Map([[pod.uid, pod]]));
    },
    nodeOf: (uid) => nodes.get(uid),
    onNode(name) {
      const there = pods.get(name);
      return there ? [...there.values()] : none;
    },
  };
}

const none: readonly PodInfo[] = [];
