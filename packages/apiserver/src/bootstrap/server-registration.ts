import { every } from '@kruise/values/clock';
import type { Core } from '../core.ts';
import { maintainIdentityLease } from './identity-lease.ts';
import { maintainKubernetesService, type ServerAddress } from './kubernetes-service.ts';
import { createWriter } from './writer.ts';

const repairIntervalMs = 10_000;

export type RegistrationOptions = {
  readonly address: ServerAddress;
  readonly hostname: string;
  readonly onError: (error: unknown) => void;
};

/** Maintains the `kubernetes` Service and the identity Lease while the server runs. */
export async function maintainRegistration(
  core: Core,
  { address, hostname, onError }: RegistrationOptions,
): Promise<void> {
  const writer = createWriter(core, 'kube-apiserver');
  const { clock, random, signal } = core;
  // The server keeps running if the Service cannot be written; the write is retried.
  const keepService = () => maintainKubernetesService(writer, address).catch(onError);
  await Promise.all([keepService(), maintainIdentityLease(writer, clock, random, { hostname, signal, onError })]);
  every(clock, repairIntervalMs, () => void keepService(), signal);
}
