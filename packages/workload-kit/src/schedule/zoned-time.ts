import type { TimeZone } from '@kruise/machinery/time-zone';
import { formatTime, type Instant } from '@kruise/values/time';

/** Formats a time in a time zone with its UTC offset: `2026-01-01T01:00:00+01:00`. */
export function formatInZone(instant: Instant, zone: TimeZone): string {
  const minutes = Math.round(zone.offsetAt(instant) / 60_000);
  const local = formatTime(instant + minutes * 60_000);
  if (minutes === 0) return local;
  const digits = (count: number) => String(Math.floor(Math.abs(count))).padStart(2, '0');
  return `${local.slice(0, -1)}${minutes < 0 ? '-' : '+'}${digits(minutes / 60)}:${digits(Math.abs(minutes) % 60)}`;
}
