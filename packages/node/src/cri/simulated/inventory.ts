/** Sandboxes or containers of a node, indexed by Pod, because most lookups select those of one Pod. */
import type { StringMap } from '../messages.ts';

type Item = { readonly id: string; readonly config: { readonly labels?: StringMap } };

/** Selection by ID or ID prefix, and by equal labels. */
export type Selection = { readonly id?: string; readonly labelSelector?: StringMap };

export type Inventory<T extends Item> = {
  get(id: string): T | undefined;
  values(): Iterable<T>;
  /** Returns the selected items, out of all or of `among`. */
  select(selection: Selection, among?: Iterable<T>): T[];
  add(item: T): void;
  remove(item: T): void;
};

const podLabel = 'io.kubernetes.pod.uid';

export function createInventory<T extends Item>(): Inventory<T> {
  const byId = new Map<string, T>();
  const byPod = new Map<string, Set<T>>();
  const podOf = ({ config }: T) => config.labels?.[podLabel] ?? '';
  return {
    get: (id) => byId.get(id),
    values: () => byId.values(),
    select({ id, labelSelector }, among) {
      const pod = labelSelector?.[podLabel];
      const found: T[] = [];
      for (const item of among ?? (pod ? byPod.get(pod) : byId.values()) ?? []) {
        if (matchesId(id, item.id) && matchesLabels(labelSelector, item.config.labels)) found.push(item);
      }
      return found;
    },
    add(item) {
      const pod = podOf(item);
      const others = byPod.get(pod);
      if (others) others.add(item);
      else byPod.set(pod, new Set([item]));
      byId.set(item.id, item);
    },
    remove(item) {
      const pod = podOf(item);
      const others = byPod.get(pod);
      others?.delete(item);
      if (others?.size === 0) byPod.delete(pod);
      byId.delete(item.id);
    },
  };
}

/** Reports whether an ID equals or starts with the requested one; an empty one matches all. */
export function matchesId(wanted: string | undefined, id: string): boolean {
  return wanted === undefined || wanted === '' || id.startsWith(wanted);
}

/** Reports whether all requested labels are equal. */
function matchesLabels(selector: StringMap | undefined, labels: StringMap | undefined): boolean {
  for (const key in selector) if (labels?.[key] !== selector[key]) return false;
  return true;
}
