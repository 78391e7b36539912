/** DNS of simulated Pods: the same answers as those of the server, without messages. */
import { formatAddress } from '@kruise/values/address';
import { answerFromCluster, type ClusterZones, defaultReverseZones } from './answer.ts';
import type { ClusterReader } from './cluster.ts';
import { formatName, internetClass, type Name, parseName, type ResourceRecord, recordType } from './message.ts';

/** Resolver of names in a cluster. Other names do not exist. */
export type ClusterResolver = {
  /** Returns the addresses of a name, IPv4 first. */
  resolve(name: string): readonly string[];
  /** Returns the records of a name, in the format of zone files. */
  records(name: string, type: string): readonly string[];
};

/** Creates a resolver that reads the objects at each call. */
export function clusterResolver(cluster: ClusterReader, clusterDomain = 'cluster.local'): ClusterResolver {
  const zones: ClusterZones = {
    domains: [parseName(clusterDomain)],
    reverseZones: defaultReverseZones,
    ttlSeconds: 30,
    localAddresses: [],
  };
  const query = (name: Name, type: number): readonly ResourceRecord[] => {
    const outcome = answerFromCluster({ name, type, class: internetClass }, cluster, zones, 0);
    return outcome.outcome === 'answer' ? outcome.answers : [];
  };
  return {
    resolve: (name) =>
      [recordType.A, recordType.AAAA].flatMap((type) =>
        query(parseName(name), type)
          .filter((record) => record.type === type)
          .map(dataText),
      ),
    records(name, type) {
      const number = Object.hasOwn(recordType, type) ? recordType[type as keyof typeof recordType] : undefined;
      if (number === undefined) return [];
      return query(parseName(name), number)
        .filter((record) => record.type === number)
        .map(dataText);
    },
  };
}

function dataText({ type, data }: ResourceRecord): string {
  switch (data.kind) {
    case 'name':
      return formatName(data.name);
    case 'mx':
      return `${data.preference} ${formatName(data.name)}`;
    case 'srv':
      return `${data.priority} ${data.weight} ${data.port} ${formatName(data.target)}`;
    case 'soa':
      return [
        formatName(data.primary),
        formatName(data.mailbox),
        data.serial,
        data.refresh,
        data.retry,
        data.expire,
        data.minimum,
      ].join(' ');
    case 'bytes': {
      if (type === recordType.TXT) return JSON.stringify(Buffer.from(data.bytes.subarray(1)).toString('latin1'));
      const bits = data.bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
      return formatAddress({ family: data.bytes.length === 4 ? 4 : 6, bits });
    }
  }
}
