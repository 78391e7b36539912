/** Masquerading of Pod traffic that leaves the cluster, as an nftables table of its own. */
import { createNftTable, type NftTable } from '../host/nft-table.ts';
import { families, headerOf } from '../policy/render-policy.ts';
import type { RoutePlan } from './route-plan.ts';

/** Name of the table, with its family. */
export const masqueradeTableName = 'inet kruise-pod-network';

const multicast = { 4: '224.0.0.0/4', 6: 'ff00::/8' } as const;

export type MasqueradeTable = { readonly nft: NftTable; update(plan: RoutePlan): void };

/** Creates the table; its set of destinations follows the nodes of the cluster. */
export function createMasqueradeTable(): MasqueradeTable {
  const nft = createNftTable(masqueradeTableName);
  const present = { 4: new Set<string>(), 6: new Set<string>() };
  for (const family of families) {
    nft.putSet(`cluster-v${family}`, { kind: 'set', declaration: `type ipv${family}_addr; flags interval;` });
  }
  return {
    nft,
    update({ podCidrs, withoutMasquerade }) {
      for (const family of families) {
        const wanted = new Set(withoutMasquerade[family]);
        for (const each of present[family]) if (!wanted.has(each)) nft.removeElement(`cluster-v${family}`, each);
        for (const each of wanted) if (!present[family].has(each)) nft.putElement(`cluster-v${family}`, each);
        present[family] = wanted;
      }
      nft.putChain('postrouting', {
        hook: 'type nat hook postrouting priority 100; policy accept;',
        rules: families.flatMap((family) => {
          const own = podCidrs.filter((each) => each.includes(':') === (family === 6));
          if (own.length === 0) return [];
          const header = headerOf(family);
          const outside = `${header} daddr != ${multicast[family]} ${header} daddr != @cluster-v${family}`;
          return [`${header} saddr { ${own.join(', ')} } ${outside} masquerade fully-random`];
        }),
      });
    },
  };
}
