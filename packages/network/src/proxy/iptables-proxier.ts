/** Writes the rules of one IP family with `iptables-restore`. */

import { CommandError, type CommandRunner } from '../host/run-command.ts';
import {
  canaryChain,
  dispatchChains,
  healthCheckEntry,
  type IptablesOptions,
  iptablesFragment,
  iptablesStaticFragment,
  iptablesTables,
} from '../service/iptables.ts';
import {
  iptablesBatches,
  iptablesCleanup,
  iptablesTransaction,
  parseIptablesSave,
} from '../service/iptables-script.ts';
import { createRuleset, emptyFragment, isEmpty, type RuleChanges } from '../service/ruleset.ts';
import type { IPFamily, ServicePort } from '../service/service-port.ts';
import type { Proxier } from './proxier.ts';

/** Owner of the rules that do not depend on Services; no Service has this name. */
const staticOwner = '';

export type IptablesProxier = Proxier & {
  reconfigure(options: IptablesOptions): void;
  /** Opens or closes the health check node port of a Service in the firewall of the node. */
  updateHealthCheck(service: string, port: number | undefined): void;
};

export type IptablesCommands = {
  /** Variant of the programs: `iptables`, `iptables-nft` or `iptables-legacy`. */
  readonly variant?: string;
};

export function createIptablesProxier(
  run: CommandRunner,
  initial: IptablesOptions,
  { variant = 'iptables' }: IptablesCommands = {},
): IptablesProxier {
  const ruleset = createRuleset();
  const { family } = initial;
  const program = programOf(variant, family);
  let options = initial;
  let isFull = true;
  let existing: ReadonlySet<string> = new Set();
  ruleset.replace(staticOwner, iptablesStaticFragment(options));

  let usesNftables: boolean | undefined;

  async function restore(changes: RuleChanges, dispatch: ReadonlySet<string>) {
    // Legacy iptables replaces the whole table in each transaction, so that several take longer than one.
    usesNftables ??= (await run(program, ['--version'])).includes('nf_tables');
    const input = (usesNftables ? iptablesBatches : iptablesTransaction)(changes, dispatch);
    await run(`${program}-restore`, ['--noflush', '-w', '5'], { input });
  }

  async function syncFully() {
    const installed = parseIptablesSave(await run(`${program}-save`, []), family);
    ruleset.assume(installed);
    const changes = ruleset.takeChanges();
    const isComplete = [...dispatchChains].every((name) => installed.dispatch.has(name));
    if (isEmpty(changes) && isComplete) return false;
    await restore(changes, installed.dispatch);
    ruleset.commit(changes);
    return true;
  }

  async function syncChanges() {
    const changes = ruleset.takeChanges();
    if (isEmpty(changes)) return false;
    await restore(changes, existing);
    ruleset.commit(changes);
    return true;
  }

  return {
    family,
    mode: 'iptables',
    get ruleCount() {
      return ruleset.size.rules + ruleset.size.entries;
    },
    update: (service, ports: readonly ServicePort[]) =>
      ruleset.replace(service, ports.length === 0 ? emptyFragment : iptablesFragment(ports, options)),
    updateHealthCheck(service, port) {
      const entries = port === undefined ? [] : [healthCheckEntry(service, port)];
      ruleset.replace(`${service} health check`, { ...emptyFragment, entries });
    },
    reconfigure(changed) {
      options = changed;
      ruleset.replace(staticOwner, iptablesStaticFragment(options));
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
        existing = dispatchChains;
        return { isFull: wasFull, hasChanges };
      } catch (error) {
        isFull = true;
        throw error;
      }
    },
    async isIntact() {
      try {
        for (const table of iptablesTables) await run(program, ['-w', '5', '-t', table, '-S', canaryChain]);
        return true;
      } catch (error) {
        if (error instanceof CommandError) return false;
        throw error;
      }
    },
  };
}

/** Returns the program of a family: `iptables-nft` is `ip6tables-nft` for IPv6. */
export function programOf(variant: string, family: IPFamily): string {
  return family === 'IPv4' ? variant : variant.replace(/^iptables/, 'ip6tables');
}

/** Deletes all rules of kube-proxy. */
export async function cleanUpIptables(run: CommandRunner, family: IPFamily, variant = 'iptables'): Promise<void> {
  const program = programOf(variant, family);
  const input = iptablesCleanup(parseIptablesSave(await run(`${program}-save`, []), family));
  if (input !== '') await run(`${program}-restore`, ['--noflush', '-w', '5'], { input });
}
