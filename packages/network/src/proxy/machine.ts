/** The machine as kube-proxy sees it: addresses, kernel settings and programs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, networkInterfaces } from 'node:os';
import { type CommandRunner, systemCommands } from '../host/run-command.ts';

export type Machine = {
  readonly run: CommandRunner;
  /** Addresses of all interfaces, loopback included. */
  localAddresses(): readonly string[];
  readonly cores: number;
  /** Reads a kernel setting, for example `net/ipv4/ip_forward`; undefined if the kernel does not have it. */
  readSetting(name: string): string | undefined;
  /** Changes a kernel setting. Throws if it is read-only. */
  writeSetting(name: string, value: string): void;
  /** Changes the score of this process for the OOM killer. */
  setOomScore(score: number): void;
};

/** The machine on which this process runs. */
export function localMachine(): Machine {
  return {
    run: systemCommands(),
    localAddresses: () =>
      Object.values(networkInterfaces()).flatMap((all) =>
        (all ?? []).map(({ address }) => address.split('%', 1)[0] ?? ''),
      ),
    cores: cpus().length,
    readSetting(name) {
      try {
        return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    writeSetting: (name, value) => writeFileSync(`/proc/sys/${name}`, value),
    setOomScore: (score) => writeFileSync('/proc/self/oom_score_adj', String(score)),
  };
}
