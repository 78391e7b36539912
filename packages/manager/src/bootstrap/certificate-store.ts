/**
 * Stores for webhook certificates: a Secret that all replicas share, files, or a Secret that an external issuer fills.
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { secret } from '@kruise/api/core/secret';
import type { Client, Reference } from '@kruise/client/client';
import { isAlreadyExists, isNotFound } from '@kruise/machinery/status';
import type { Instant } from '@kruise/values/time';
import { areValid, certificatesIn, filesOf, newCertificates, type WebhookCertificates } from './certificates.ts';

/** Returns valid certificates, and creates them where necessary. */
export type CertificateStore = () => Promise<WebhookCertificates>;

export type CertificateTerms = {
  readonly host: string;
  readonly renewBeforeMs: number;
  readonly now: () => Instant;
};

/**
 * Keeps certificates in a Secret. When replicas start at the same time, one creates the certificates and the others use
 * them.
 */
export function secretStore(client: Client, reference: Reference, terms: CertificateTerms): CertificateStore {
  const { host, renewBeforeMs, now } = terms;
  const isGood = (found: WebhookCertificates) => areValid(found, host, now() + renewBeforeMs);
  const read = async () => {
    try {
      return await client.get(secret, reference);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  return async function ensure() {
    const found = await read();
    const known = found && certificatesIn(decoded(found.data));
    if (known && isGood(known)) return known;
    const made = newCertificates(host, now(), known);
    const data = encoded(filesOf(made));
    try {
      if (found) await client.update(secret, { ...found, data: { ...found.data, ...data } });
      else await client.create(secret, { metadata: { ...reference }, data });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return ensure();
    }
    return made;
  };
}

/** Keeps certificates in the files of a directory. */
export function fileStore(directory: string, { host, renewBeforeMs, now }: CertificateTerms): CertificateStore {
  return async () => {
    const known = readFiles(directory);
    if (known && areValid(known, host, now() + renewBeforeMs)) return known;
    const made = newCertificates(host, now(), known);
    writeFiles(directory, filesOf(made));
    return made;
  };
}

/** Reads certificates that an external issuer, such as cert-manager, keeps in a Secret. They are used as they are. */
export function externalStore(client: Client, reference: Reference): CertificateStore {
  return async () => {
    const { data } = await client.get(secret, reference);
    const files = decoded(data);
    return {
      authorityKey: files['ca.key'] ?? '',
      authorityCertificate: files['ca.crt'] ?? '',
      key: files['tls.key'] ?? '',
      certificate: files['tls.crt'] ?? '',
    };
  };
}

/** Returns the certificates in a directory, if it contains any. */
export function readFiles(directory: string): WebhookCertificates | undefined {
  const names = ['ca-key.pem', 'ca-cert.pem', 'key.pem', 'cert.pem'];
  if (!names.every((name) => existsSync(join(directory, name)))) return undefined;
  return certificatesIn(Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')])));
}

const current = '..data';

/**
 * Writes files atomically, so that a reader never finds a mix of old and new files: the files are symbolic links into a
 * folder that is swapped as a whole. Files that already have the wanted content are not written.
 */
export function writeFiles(directory: string, files: { readonly [name: string]: string }): void {
  mkdirSync(directory, { recursive: true });
  const names = Object.keys(files);
  const contentOf = (name: string) =>
    existsSync(join(directory, name)) ? readFileSync(join(directory, name), 'utf8') : undefined;
  if (names.every((name) => contentOf(name) === files[name])) return;
  const generation = ['..a', '..b'].find((each) => !isCurrent(directory, each))!;
  const folder = join(directory, generation);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const name of names) writeFileSync(join(folder, name), files[name]!, { mode: 0o600 });
  const link = join(directory, `${current}.new`);
  rmSync(link, { force: true });
  symlinkSync(generation, link);
  renameSync(link, join(directory, current));
  for (const name of names) {
    rmSync(join(directory, name), { force: true });
    symlinkSync(join(current, name), join(directory, name));
  }
}

/** Reports whether a folder is the one that the links point into. */
function isCurrent(directory: string, generation: string): boolean {
  const link = join(directory, current);
  return existsSync(link) && readlinkSync(link) === generation;
}

function decoded(data: { readonly [name: string]: string } | undefined): { readonly [name: string]: string } {
  return mapped(data ?? {}, (text) => Buffer.from(text, 'base64').toString('utf8'));
}

function encoded(files: { readonly [name: string]: string }): { readonly [name: string]: string } {
  return mapped(files, (text) => Buffer.from(text).toString('base64'));
}

function mapped(map: { readonly [name: string]: string }, change: (text: string) => string) {
  return Object.fromEntries(Object.entries(map).map(([name, text]) => [name, change(text)]));
}
