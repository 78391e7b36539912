import type { Draft } from '@kruise/schema/draft';
import type { Secret } from './secret.ts';

/** Moves stringData into data. */
export function defaultSecret(secret: Draft<Secret>): void {
  secret.type ||= 'Opaque';
  const { stringData } = secret;
  if (stringData === undefined) return;
  delete secret.stringData;
  const data = (secret.data ??= {});
  for (const key in stringData) data[key] = Buffer.from(stringData[key]!).toString('base64');
}
