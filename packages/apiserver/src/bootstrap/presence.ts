import { every } from '@kruise/values/clock';
import type { Core } from '../core.ts';
import { keepIdentityLease } from './identity-lease.ts';
import { keepKubernetesService, type ServerAddress } from './kubernetes-service.ts';
import { createWriter } from './writer.ts';

const lookAgainMs = 10_000;

export type PresenceOptions = {
  readonly address: ServerAddress;
  readonly hostname: string;
  readonly onError: (error: unknown) => void;
};

/** Tells the cluster that the server is there and where, for as long as it is. */
export async function keepPresence(core: Core, { address, hostname, onError }: PresenceOptions): Promise<void> {
  const writer = createWriter(core, 'kube-apiserver');
  const { clock, random, signal } = core;
  // A server that cannot say where it is serves all the same, and tries again.
  const keepService = () => keepKubernetesService(writer, address).catch(onError);
  await Promise.all([keepService(), keepIdentityLease(writer, clock, random, { hostname, signal, onError })]);
  every(clock, lookAgainMs, () => void keepService(), signal);
}
