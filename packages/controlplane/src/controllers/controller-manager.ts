/**
 * kube-controller-manager: every controller of the catalogue, or those asked for, under one lease. Each writes as a
 * ServiceAccount of its own that may do what it needs and no more; what is known is read once for all of them.
 */
import type { Client } from '@kruise/client/client';
import type { Controller, Runnable } from '@kruise/client/controller';
import { type RunOptions, runControllers } from '@kruise/client/manager';
import { aliases } from './aliases.ts';
import { type CatalogueEntry, catalogue } from './catalogue.ts';
import type { ControllerSettings } from './settings.ts';

export type ControllerManagerOptions = Omit<RunOptions, 'clientFor'> & {
  readonly settings: ControllerSettings;
  /** The client of a ServiceAccount in `kube-system`. */
  readonly clientOf: (serviceAccount: string) => Client;
  /** Which controllers run: `*` all that do by default, `name` this one too, `-name` not this one. Former names will do. */
  readonly controllers?: readonly string[];
};

/** Runs the controllers until the signal is aborted. */
export async function runControllerManager(options: ControllerManagerOptions, signal: AbortSignal): Promise<void> {
  const { settings, clientOf, controllers: wanted = ['*'], ...runOptions } = options;
  const accounts = new Map<Controller | Runnable, string | undefined>();
  for (const { serviceAccount, make } of selectControllers(wanted)) {
    for (const controller of make(settings)) accounts.set(inTheNameOfAll(controller), serviceAccount);
  }
  const clientFor = (controller: Controller | Runnable) => {
    const account = accounts.get(controller);
    return account === undefined ? runOptions.client : clientOf(account);
  };
  await runControllers([...accounts.keys()], { ...runOptions, clientFor }, signal);
}

/** The controllers that run where these are wanted. */
export function selectControllers(wanted: readonly string[]): readonly CatalogueEntry[] {
  return catalogue.filter(({ name, isOptional = false }) => isWanted(name, isOptional, wanted));
}

/** Whoever reads who wrote a field finds one manager, as upstream's are one program, unless a controller says otherwise. */
function inTheNameOfAll(controller: Controller | Runnable): Controller | Runnable {
  if ('run' in controller || controller.fieldManager !== controller.name) return controller;
  return { ...controller, fieldManager: 'kube-controller-manager' };
}

/** The names of controllers that do not exist, of those asked for. One that is not wanted need not be there. */
export function unknownControllers(wanted: readonly string[]): readonly string[] {
  const present = new Set(['*', ...catalogue.map(({ name }) => name)]);
  const heardOf = new Set([...present, ...aliases.values()]);
  return wanted.filter((each) => {
    const name = nameOf(each);
    return name.startsWith('-') ? !heardOf.has(name.slice(1)) : !present.has(name);
  });
}

/** The name a controller has now, with the sign it was given. */
function nameOf(wanted: string): string {
  const sign = wanted.startsWith('-') ? '-' : '';
  const name = wanted.slice(sign.length);
  return sign + (aliases.get(name) ?? name);
}

/** What is said of a controller first counts; where nothing is, the star does. */
function isWanted(name: string, isOptional: boolean, wanted: readonly string[]): boolean {
  const said = wanted.map(nameOf).find((each) => each === name || each === `-${name}`);
  if (said !== undefined) return said === name;
  return wanted.includes('*') && !isOptional;
}
