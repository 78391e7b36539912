/**
 * kube-controller-manager: every controller of the catalogue, or those asked for, under one lease. Each writes as a
 * ServiceAccount of its own that may do what it needs and no more; what is known is read once for all of them.
 */
import type { Client } from '@kruise/client/client';
import type { Controller, Runnable } from '@kruise/client/controller';
import { type RunOptions, runControllers } from '@kruise/client/manager';
import { catalogue } from './catalogue.ts';
import type { ControllerSettings } from './settings.ts';

export type ControllerManagerOptions = Omit<RunOptions, 'clientFor'> & {
  readonly settings: ControllerSettings;
  /** The client of a ServiceAccount in `kube-system`. */
  readonly clientOf: (serviceAccount: string) => Client;
  /** Which controllers run: `*` all that do by default, `name` this one too, `-name` not this one. */
  readonly controllers?: readonly string[];
};

/** Runs the controllers until the signal is aborted. */
export async function runControllerManager(options: ControllerManagerOptions, signal: AbortSignal): Promise<void> {
  const { settings, clientOf, controllers: wanted = ['*'], ...runOptions } = options;
  const accounts = new Map<Controller | Runnable, string | undefined>();
  for (const { name, serviceAccount, isOptional = false, make } of catalogue) {
    if (!isWanted(name, isOptional, wanted)) continue;
    for (const controller of make(settings)) accounts.set(inTheNameOfAll(controller), serviceAccount);
  }
  const clientFor = (controller: Controller | Runnable) => {
    const account = accounts.get(controller);
    return account === undefined ? runOptions.client : clientOf(account);
  };
  await runControllers([...accounts.keys()], { ...runOptions, clientFor }, signal);
}

/** Whoever reads who wrote a field finds one manager, as upstream's are one program. */
function inTheNameOfAll(controller: Controller | Runnable): Controller | Runnable {
  return 'run' in controller ? controller : { ...controller, fieldManager: 'kube-controller-manager' };
}

/** The names of controllers that do not exist, of those asked for. */
export function unknownControllers(wanted: readonly string[]): readonly string[] {
  const names = new Set(catalogue.map(({ name }) => name));
  return wanted.map((each) => each.replace(/^-/, '')).filter((name) => name !== '*' && !names.has(name));
}

function isWanted(name: string, isOptional: boolean, wanted: readonly string[]): boolean {
  if (wanted.includes(name)) return true;
  if (wanted.includes(`-${name}`)) return false;
  return wanted.includes('*') && !isOptional;
}
