SELECT a, 'it''s ?' FROM "t?" WHERE b = ? AND c IN (?, ?) -- why?
 LIMIT ? /* end */;