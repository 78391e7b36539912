/** Address ranges and names of the network of a cluster. */

/** A /24 for each of up to 4,096 nodes. */
export const clusterRanges = ['10.240.0.0/12'];
export const serviceRanges = ['10.96.0.0/16'];
export const clusterDns = ['10.96.0.10'];
export const clusterDomain = 'cluster.local';
