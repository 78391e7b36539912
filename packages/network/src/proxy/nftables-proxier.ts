/** Writes the rules of one IP family with `nft`. */
import type { Clock } from '@kruise/values/clock';
import { CommandError, type CommandRunner } from '../host/run-command.ts';
import {
  type NftOptions,
  nftFamily,
  nftFragment,
  nftSkeleton,
  nftStaticFragment,
  nftTable,
} from '../service/nftables.ts';
import {
  nftDeletion,
  nftReplacement,
  nftTransaction,
  parseNftTable,
  type StaleNames,
} from '../service/nftables-script.ts';
import { createRuleset, emptyFragment, type InstalledRules, isEmpty, noRules } from '../service/ruleset.ts';
import type { Proxier } from './proxier.ts';

/** The kernel deletes a chain only after the packets that are in it have left; see `nftTransaction`. */
const deletionDelayMs = 1000;
/** Owner of the rules that do not depend on Services; no Service has this name. */
const staticOwner = '';

/** Rules that nftables has besides those of Services. */
export type NftablesProxier = Proxier & {
  /** Changes the options of the rules that do not depend on Services. */
  reconfigure(options: NftOptions): void;
};

export function createNftablesProxier(run: CommandRunner, clock: Clock, initial: NftOptions): NftablesProxier {
  const ruleset = createRuleset();
  const { family } = initial;
  const ip = nftFamily(family);
  let options = initial;
  let isFull = true;
  /** Set after changing the kernel's rules has failed in a full sync: they are then replaced as a whole. */
  let mustReplace = false;
  let stale: StaleNames & { readonly sinceMs: number } = { chains: [], sets: [], sinceMs: 0 };
  ruleset.replace(staticOwner, nftStaticFragment(options));

  const execute = (lines: readonly string[]) => run('nft', ['-f', '-'], { input: `${lines.join('\n')}\n` });

  async function readInstalled(): Promise<InstalledRules | undefined> {
    try {
      return parseNftTable(await run('nft', ['-nn', 'list', 'table', ip, nftTable]));
    } catch (error) {
      if (error instanceof CommandError && error.message.includes('No such file or directory')) return undefined;
      throw error;
    }
  }

  async function syncFully() {
    const installed = mustReplace ? undefined : await readInstalled();
    ruleset.assume(installed ?? noRules);
    const changes = ruleset.takeChanges();
    if (installed) {
      if (!isEmpty(changes)) await execute([...nftSkeleton(options), ...nftTransaction(changes, options)]);
      stale = { chains: changes.staleChains, sets: changes.staleSets, sinceMs: clock.elapsedMs() };
    } else {
      await execute(nftReplacement(changes, options));
      stale = { chains: [], sets: [], sinceMs: 0 };
    }
    ruleset.commit(changes);
    return !isEmpty(changes);
  }

  async function syncChanges() {
    const changes = ruleset.takeChanges();
    const nowMs = clock.elapsedMs();
    const revived = new Set([...changes.addedChains.map(({ name }) => name), ...changes.addedSets]);
    const due = nowMs - stale.sinceMs >= deletionDelayMs ? stale : { chains: [], sets: [] };
    const kept = due === stale ? { chains: [], sets: [] } : stale;
    const deletion = nftDeletion(withoutNames(due, revived), options);
    if (isEmpty(changes) && deletion.length === 0) return false;
    await execute([...nftTransaction(changes, options), ...deletion]);
    ruleset.commit(changes);
    const next = withoutNames(kept, revived);
    stale = {
      chains: [...next.chains, ...changes.staleChains],
      sets: [...next.sets, ...changes.staleSets],
      sinceMs: nowMs,
    };
    return true;
  }

  return {
    family,
    mode: 'nftables',
    get ruleCount() {
      return ruleset.size.rules;
    },
    update: (service, ports) =>
      ruleset.replace(service, ports.length === 0 ? emptyFragment : nftFragment(ports, options)),
    reconfigure(changed) {
      options = changed;
      ruleset.replace(staticOwner, nftStaticFragment(options));
    },
    requestFullSync() {
      isFull = true;
    },
    async sync() {
      const wasFull = isFull;
      try {
        // Set before: a request for a full sync may come while this one runs.
        isFull = false;
        const hasChanges = wasFull ? await syncFully() : await syncChanges();
        mustReplace = false;
        const hasStale = stale.chains.length > 0 || stale.sets.length > 0;
        return { isFull: wasFull, hasChanges, ...(hasStale ? { requeueAfterMs: deletionDelayMs } : {}) };
      } catch (error) {
        // A full sync that fails in the table that exists, for example because another version of kube-proxy has made
        // it, succeeds with a new table. Both are one transaction.
        mustReplace = wasFull;
        isFull = true;
        throw error;
      }
    },
    async isIntact() {
      try {
        await run('nft', ['list', 'chain', ip, nftTable, 'masquerading']);
        return true;
      } catch (error) {
        if (error instanceof CommandError) return false;
        throw error;
      }
    },
  };
}

function withoutNames({ chains, sets }: StaleNames, names: ReadonlySet<string>): StaleNames {
  return { chains: chains.filter((name) => !names.has(name)), sets: sets.filter((name) => !names.has(name)) };
}

/** Deletes all rules of kube-proxy. */
export async function cleanUpNftables(run: CommandRunner): Promise<void> {
  for (const ip of ['ip', 'ip6']) {
    await run('nft', ['-f', '-'], { input: `add table ${ip} ${nftTable}\ndelete table ${ip} ${nftTable}\n` });
  }
}
