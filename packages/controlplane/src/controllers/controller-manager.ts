/**
 * kube-controller-manager: all controllers of the catalogue, or the requested ones, under one leader election lease.
 * Each controller uses its own ServiceAccount with the least privileges; all share the same informers.
 */
import type { Client } from '@kruise/client/client';
import type { Controller, Runnable } from '@kruise/client/controller';
import { type RunOptions, runControllers } from '@kruise/client/manager';
import { aliases } from './aliases.ts';
import { type CatalogueEntry, catalogue } from './catalogue.ts';
import type { ControllerSettings } from './settings.ts';

export type ControllerManagerOptions = Omit<RunOptions, 'clientFor'> & {
  readonly settings: ControllerSettings;
  /** Returns the client of a ServiceAccount in `kube-system`. */
  readonly clientOf: (serviceAccount: string) => Client;
  /**
   * Controllers to run: `*` enables all that are on by default, `name` enables one, `-name` disables one. Deprecated
   * aliases are accepted.
   */
  readonly controllers?: readonly string[];
};

export async function runControllerManager(options: ControllerManagerOptions, signal: AbortSignal): Promise<void> {
  const { settings, clientOf, controllers: wanted = ['*'], ...runOptions } = options;
  const accounts = new Map<Controller | Runnable, string | undefined>();
  for (const { serviceAccount, make } of selectControllers(wanted)) {
    for (const controller of make(settings)) accounts.set(withSharedFieldManager(controller), serviceAccount);
  }
  const clientFor = (controller: Controller | Runnable) => {
    const account = accounts.get(controller);
    return account === undefined ? runOptions.client : clientOf(account);
  };
  await runControllers([...accounts.keys()], { ...runOptions, clientFor }, signal);
}

/** Returns the controllers that run for a `--controllers` value. */
export function selectControllers(wanted: readonly string[]): readonly CatalogueEntry[] {
  return catalogue.filter(({ name, isOptional = false }) => isWanted(name, isOptional, wanted));
}

/** Uses one field manager for all controllers, as upstream does with one program, unless a controller sets its own. */
function withSharedFieldManager(controller: Controller | Runnable): Controller | Runnable {
  if ('run' in controller || controller.fieldManager !== controller.name) return controller;
  return { ...controller, fieldManager: 'kube-controller-manager' };
}

/** Returns the requested controller names that do not exist. Disabling a controller that does not exist is allowed. */
export function unknownControllers(wanted: readonly string[]): readonly string[] {
  const present = new Set(['*', ...catalogue.map(({ name }) => name)]);
  const knownNames = new Set([...present, ...aliases.values()]);
  return wanted.filter((each) => {
    const name = nameOf(each);
    return name.startsWith('-') ? !knownNames.has(name.slice(1)) : !present.has(name);
  });
}

/** Resolves an alias to the current controller name and keeps the leading minus sign. */
function nameOf(wanted: string): string {
  const sign = wanted.startsWith('-') ? '-' : '';
  const name = wanted.slice(sign.length);
  return sign + (aliases.get(name) ?? name);
}

/** The first entry that names a controller wins; without one, `*` applies. */
function isWanted(name: string, isOptional: boolean, wanted: readonly string[]): boolean {
  const entry = wanted.map(nameOf).find((each) => each === name || each === `-${name}`);
  if (entry !== undefined) return entry === name;
  return wanted.includes('*') && !isOptional;
}
