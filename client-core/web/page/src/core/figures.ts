/** Values of components as players read them, with their units. */

import type { Component } from "../ambit/ambit.js";

/**
 * A gauge is rounded to a whole number, a half to the digits that tell it from its neighbours. An
 * angle is in degrees, a time in minutes and seconds.
 */
export function cellOf(
  { type, unit }: Component,
  value: number | boolean | string | undefined,
): string {
  if (typeof value === "boolean") return value ? "✓" : "–";
  if (typeof value !== "number") return value ?? "";
  if (type === "half") return withUnit(String(Number(value.toPrecision(5))), unit);
  if (type === "angle") return `${Math.round((value * 180) / Math.PI)}°`;
  // The last second is over when it is over.
  return unit === "s" ? minutesOf(Math.ceil(value)) : withUnit(String(Math.round(value)), unit);
}

/** What is left in a bar: of a share, how much it could be says nothing. */
export function leftOf(gauge: Pick<Component, "unit">, value: number, max: number): string {
  return gauge.unit === "%" ? `${value} %` : `${value} / ${max}`;
}

/** Such as 9:52. */
function minutesOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function withUnit(figure: string, unit: string): string {
  return unit ? `${figure} ${unit}` : figure;
}
