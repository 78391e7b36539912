/** DNS messages as values: names, records and the numbers of the protocol (RFC 1035, RFC 6891). */

/**
 * A domain name: its labels, without the root. A label is a string of bytes (one character each, as in latin1), because
 * the labels of a query may contain any byte, dots included.
 */
export type Name = readonly string[];

/** Data of a record. Names in it are kept apart, because they are compressed in a message. */
export type RecordData =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'name'; readonly name: Name }
  | { readonly kind: 'mx'; readonly preference: number; readonly name: Name }
  | {
      readonly kind: 'srv';
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: Name;
    }
  | {
      readonly kind: 'soa';
      readonly primary: Name;
      readonly mailbox: Name;
      readonly serial: number;
      readonly refresh: number;
      readonly retry: number;
      readonly expire: number;
      readonly minimum: number;
    };

/** A resource record. */
export type ResourceRecord = {
  readonly name: Name;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly data: RecordData;
};

export type Question = { readonly name: Name; readonly type: number; readonly class: number };

/** EDNS parameters of a query: the OPT record. */
export type Edns = {
  /** UDP payload size that the client accepts, as sent. */
  readonly size: number;
  readonly version: number;
  /** DO bit and reserved bits. */
  readonly flags: number;
  readonly options: Uint8Array;
};

/** The sections of a response. */
export type Sections = {
  readonly answers: readonly ResourceRecord[];
  readonly authority: readonly ResourceRecord[];
  readonly additional: readonly ResourceRecord[];
};

export const noRecords: Sections = { answers: [], authority: [], additional: [] };

export const recordType = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  DNAME: 39,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
} as const;

export const responseCode = {
  success: 0,
  formatError: 1,
  serverFailure: 2,
  nameError: 3,
  notImplemented: 4,
  refused: 5,
  badVersion: 16,
} as const;

export const internetClass = 1;

/** Bits of the second word of the header. */
export const headerFlag = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  reserved: 0x0040,
  authenticated: 0x0020,
  checkingDisabled: 0x0010,
} as const;

export const opcodeOf = (flags: number): number => (flags >> 11) & 0xf;
export const queryOpcode = 0;
export const notifyOpcode = 4;

/** Parses a name in the usual form. Empty labels are dropped, so that a final dot does not matter. */
export function parseName(text: string): Name {
  return text.split('.').filter((label) => label !== '');
}

/** Formats a name with its final dot, for logs and for the simulated network. */
export function formatName(name: Name): string {
  return `${name.join('.')}.`;
}

/** Returns the labels in lower case. Only ASCII letters have a case in DNS. */
export function lowerCaseName(name: Name): Name {
  return name.map(lowerCaseLabel);
}

function lowerCaseLabel(label: string): string {
  // `toLowerCase` would also change the bytes above 127.
  return /[A-Z]/.test(label) ? label.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : label;
}

/** Reports whether a name is a zone or below it. Both are in lower case. */
export function isInZone(name: Name, zone: Name): boolean {
  const offset = name.length - zone.length;
  if (offset < 0) return false;
  for (let index = zone.length - 1; index >= 0; index--) {
    if (name[offset + index] !== zone[index]) return false;
  }
  return true;
}

/** Reports whether two names in lower case are equal. */
export function isSameName(a: Name, b: Name): boolean {
  return a.length === b.length && isInZone(a, b);
}
