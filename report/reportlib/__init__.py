"""What report/report is made of: results, figures, cost, page."""
