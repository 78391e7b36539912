/** Sets of the nftables table by family, with a count per element: two Pods may have an address for a moment. */

import type { NftTable } from '../host/nft-table.ts';
import { type Family, families } from './render-policy.ts';

/** Family of an address in canonical form. */
export function familyOf(address: string): Family {
  return address.includes(':') ? 6 : 4;
}

export function setName(name: string, family: Family): string {
  return `${name}-v${family}`;
}

export type ElementSet = {
  add(address: string, key: string): void;
  remove(address: string, key: string): void;
  release(): void;
};

/** Creates one set for each family. `type` is that of an element after the address: ` . inet_service`. */
export function createElementSet(table: NftTable, name: string, type = ''): ElementSet {
  const counts = new Map<string, number>();
  for (const family of families) {
    table.putSet(setName(name, family), { kind: 'set', declaration: `type ipv${family}_addr${type};` });
  }
  return {
    add(address, key) {
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      if (count === 0) table.putElement(setName(name, familyOf(address)), key);
    },
    remove(address, key) {
      const count = counts.get(key) ?? 0;
      if (count > 1) {
        counts.set(key, count - 1);
        return;
      }
      counts.delete(key);
      table.removeElement(setName(name, familyOf(address)), key);
    },
    release() {
      for (const family of families) table.removeSet(setName(name, family));
    },
  };
}
