import { expect, test } from "@playwright/test";
import { columns_with_room } from "./columns";

interface Some {
  id: string;
  width?: string;
  wide?: boolean;
}
const wide = (column: Some) => !!column.wide;
const columns: Some[] = [
  { id: "name" },
  { id: "state", width: "100px" },
  { id: "by", width: "150px", wide: true },
  { id: "cost", width: "80px", wide: true },
  { id: "when", width: "90px" },
];
const ids = (room: number) =>
  columns_with_room(columns, room, wide)
    .map(({ column }) => column.id)
    .join(" ");

test("all columns are kept where there is room for all", () => {
  expect(ids(580)).toBe("name state by cost when");
});

test("optional columns are hidden from the right until the name is readable", () => {
  expect(ids(579)).toBe("name state by when");
  expect(ids(499)).toBe("name state when");
});

test("the last column is hidden after the others", () => {
  const last: Some[] = [
    { id: "name" },
    { id: "cost", width: "80px", wide: true },
    { id: "when", width: "90px", wide: true },
  ];
  const left = (room: number) => columns_with_room(last, room, wide).map(({ column }) => column.id);
  expect(left(250)).toEqual(["name", "when"]);
  expect(left(249)).toEqual(["name"]);
});

test("required columns stay on narrow screens", () => {
  expect(ids(100)).toBe("name state when");
});

test("a share of the width is at least what its column needs", () => {
  const shares: Some[] = [
    { id: "name", width: "25%" },
    { id: "text", wide: true },
  ];
  const widths = (room: number) => columns_with_room(shares, room, wide).map(({ width }) => width);
  expect(widths(400)).toEqual([160, null]);
  expect(widths(1000)).toEqual([250, null]);
  expect(widths(280)).toEqual([160]);
  expect(widths(150)).toEqual([null]);
});

test("columns never need more than the room", () => {
  const fixed: Some[] = [{ id: "name" }, { id: "state", width: "120px" }, { id: "when", width: "180px" }];
  for (const room of [200, 300, 358, 395]) {
    const widths = columns_with_room(fixed, room, wide).map(({ width }) => width);
    expect(widths[0]).toBeNull();
    expect((widths[1] ?? 0) + (widths[2] ?? 0)).toBeLessThanOrEqual(room - 96);
  }
});
