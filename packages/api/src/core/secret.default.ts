import type { Draft } from '@kruise/schema/draft';
import type { Secret } from './secret.ts';

/** What was given as text becomes data, which it is from then on. */
export function defaultSecret(secret: Draft<Secret>): void {
  secret.type ||= 'Opaque';
  const { stringData } = secret;
  if (stringData === undefined) return;
  delete secret.stringData;
  const data = (secret.data ??= {});
  for (const key in stringData) data[key] = Buffer.from(stringData[key]!).toString('base64');
}
