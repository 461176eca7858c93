import { useEffect, useState } from "preact/hooks";

/** The value once it has stopped changing: holding j must not request every span on the way. */
export function use_settled<T>(value: T, milliseconds: number): T {
  const [settled, set_settled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set_settled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
