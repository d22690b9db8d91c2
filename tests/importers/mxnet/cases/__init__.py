"""What operators of MXNet give: tables of operator, parameters, operands and result, by subject."""
