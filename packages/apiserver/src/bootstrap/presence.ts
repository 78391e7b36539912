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

/** Maintains the `kubernetes` Service and the identity Lease while the server runs. */
export async function keepPresence(core: Core, { address, hostname, onError }: PresenceOptions): Promise<void> {
  const writer = createWriter(core, 'kube-apiserver');
  const { clock, random, signal } = core;
  // The server keeps running if the Service cannot be written; the write is retried.
  const keepService = () => keepKubernetesService(writer, address).catch(onError);
  await Promise.all([keepService(), keepIdentityLease(writer, clock, random, { hostname, signal, onError })]);
  every(clock, lookAgainMs, () => void keepService(), signal);
}
